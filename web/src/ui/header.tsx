/** The header: pages, balance, who is signed in. */
import { here } from "../router";
import { text } from "../text";

const PAGES = ["lobby", "credits", "leaderboard", "rules"] as const;

export function Header() {
  return (
    <header class="top">
      <a class="brand" href="/">
        {text.site.name}
      </a>
      <nav aria-label={text.site.menu}>
        {PAGES.map((page) => (
          <a
            key={page}
            href={`/${page}`}
            aria-current={here.value.pathname === `/${page}` ? "page" : undefined}
          >
            {text.site.pages[page]}
          </a>
        ))}
      </nav>
    </header>
  );
}
