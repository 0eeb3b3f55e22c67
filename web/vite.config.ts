import { defineConfig } from "vitest/config";

// The shell (bas_site/shell.py) reads the manifest and names the files; Django serves them.
export default defineConfig({
  base: "/static/web/",
  build: {
    outDir: "dist",
    emptyOutDir: true,
    manifest: true,
    target: "es2022",
    // A data: script or style would need a looser Content-Security-Policy.
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    rolldownOptions: { input: "src/main.tsx" },
  },
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: { include: ["src/**/*.test.ts"] },
});
