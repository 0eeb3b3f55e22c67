import { text } from "../text";

export function Footer() {
  return (
    <footer class="bottom">
      <p>{text.site.footer.fair}</p>
      <nav aria-label={text.site.footer.label}>
        <a href="/verify">{text.site.pages.verify}</a>
        <a href="/api/docs">{text.site.footer.api}</a>
        <a href="/admin/">{text.site.footer.console}</a>
      </nav>
    </footer>
  );
}
