/** The frame around every page: header, page, footer. */
import { useSignalEffect } from "@preact/signals";
import type { ComponentType } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { followLinks, here, match, type PageProps } from "./router";
import { development } from "./session";
import { text } from "./text";
import { ConnectDialog } from "./ui/connect_dialog";
import { Footer } from "./ui/footer";
import { Header } from "./ui/header";
import { keepReconnecting } from "./wallet/connection";
import { discover } from "./wallet/wallets";

type Shown = { Page: ComponentType<PageProps>; params: Record<string, string>; key: string };

export function App() {
  const [shown, setShown] = useState<Shown | null>(null);
  const [broken, setBroken] = useState(false);
  const main = useRef<HTMLElement>(null);
  const wanted = useRef("");

  useSignalEffect(() => {
    const path = here.value.pathname;
    const route = match(path);
    // The first page is already announced by the browser; later ones take the focus.
    const isFirst = wanted.current === "";
    wanted.current = path;
    if (!route) {
      setBroken(true);
      return;
    }
    route
      .load()
      .then((module) => {
        if (wanted.current !== path) return;
        setBroken(false);
        setShown({ Page: module.default, params: route.params, key: path });
        document.title = titleOf(path);
        if (!isFirst) main.current?.focus({ preventScroll: true });
      })
      .catch(() => setBroken(true));
  });

  const DevWallet = useWallets();
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: links send clicks for keys themselves
    // biome-ignore lint/a11y/noStaticElementInteractions: it only listens to the links in it
    <div class="site" onClick={followLinks}>
      <a class="skip" href="#page">
        {text.site.skip}
      </a>
      <Header />
      <main id="page" tabIndex={-1} ref={main}>
        {broken ? <Broken /> : shown ? <shown.Page key={shown.key} params={shown.params} /> : null}
      </main>
      <Footer />
      <ConnectDialog />
      {DevWallet && <DevWallet />}
    </div>
  );
}

function titleOf(path: string): string {
  const page = path.split("/")[1] as keyof typeof text.site.pages;
  const name = text.site.pages[page];
  return name ? `${name} · ${text.site.name}` : text.site.name;
}

/** Find wallets; in development the dev wallet too, whose own dialog this returns. */
function useWallets(): ComponentType | null {
  const [DevWallet, setDevWallet] = useState<ComponentType | null>(null);
  useEffect(() => {
    discover();
    keepReconnecting();
    if (!development) return;
    void import("./wallet/dev").then((dev) => {
      dev.announce();
      setDevWallet(() => dev.DevWallet);
    });
  }, []);
  return DevWallet;
}

function Broken() {
  return (
    <section class="panel">
      <h1>{text.site.broken.title}</h1>
      <p>{text.site.broken.hint}</p>
      <button type="button" onClick={() => location.reload()}>
        {text.site.broken.again}
      </button>
    </section>
  );
}
