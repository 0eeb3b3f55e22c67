/** Paths and pages: the address bar is the only state there is of where one is. */
import { signal } from "@preact/signals";
import type { ComponentType } from "preact";

export type PageProps = { params: Record<string, string> };
type Page = ComponentType<PageProps>;
type Route = { path: string; load: () => Promise<{ default: Page }> };

/** Each path and the chunk that shows it; bas_site/urls.py serves the shell at the same ones. */
const ROUTES: Route[] = [
  { path: "/", load: () => import("./pages/home") },
  { path: "/lobby", load: () => import("./pages/lobby") },
  { path: "/match/:id", load: () => import("./battle") },
  { path: "/replay/:id", load: () => import("./replay") },
  { path: "/verify", load: () => import("./replay/verify") },
  { path: "/leaderboard", load: () => import("./pages/leaderboard") },
  { path: "/player/:address", load: () => import("./pages/player") },
  { path: "/credits", load: () => import("./pages/credits") },
  { path: "/rules", load: () => import("./pages/rules") },
];

/** Path and query of the page that is shown. */
export const here = signal(new URL(location.href));

addEventListener("popstate", () => {
  here.value = new URL(location.href);
});

/** Go to a path of the site, as a click on a link would. */
export function go(path: string): void {
  history.pushState(null, "", path);
  here.value = new URL(location.href);
  scrollTo(0, 0);
}

/** Go to a path without leaving the one before it in the history. */
export function replace(path: string): void {
  history.replaceState(null, "", path);
  here.value = new URL(location.href);
}

/** Let links to the site's own pages change the page without loading the shell again. */
export function followLinks(event: MouseEvent): void {
  const link = (event.target as Element).closest("a");
  const plain = event.button === 0 && !event.metaKey && !event.ctrlKey && !event.shiftKey;
  if (!link || !plain || event.defaultPrevented || link.target || link.hasAttribute("download"))
    return;
  const url = new URL(link.href);
  if (url.origin !== location.origin || !match(url.pathname) || url.hash) return;
  event.preventDefault();
  go(url.pathname + url.search);
}

/** The route of a path, with its parameters; null for a path that is not the front end's. */
export function match(path: string): (Route & PageProps) | null {
  for (const route of ROUTES) {
    const names: string[] = [];
    const pattern = route.path.replace(/:(\w+)/g, (_, name) => {
      names.push(name);
      return "([^/]+)";
    });
    const found = new RegExp(`^${pattern}/?$`).exec(path);
    if (found) {
      const params = Object.fromEntries(
        names.map((name, n) => [name, decodeURIComponent(found[n + 1] ?? "")]),
      );
      return { ...route, params };
    }
  }
  return null;
}
