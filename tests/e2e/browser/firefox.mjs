// Plays the site in Firefox: `node firefox.mjs URL FIREFOX`. Prints what went wrong, a line each.
// Playwright drives a Firefox of its own build only; this is the one that people have.
import puppeteer from "puppeteer-core";

const [url, executablePath] = process.argv.slice(2);
const PATHS = ["/", "/lobby", "/credits", "/leaderboard", "/rules", "/verify"];
const OWN = [`${url}/`, "data:", "blob:"];
const WIDE = { width: 1280, height: 800 };
const NARROW = { width: 360, height: 800 };

const SECONDS = 240;

const browser = await puppeteer.launch({
  browser: "firefox",
  executablePath,
  // What moves for its looks is most of the work where no graphics card does it.
  extraPrefsFirefox: { "ui.prefersReducedMotion": 1 },
});
const late = setTimeout(async () => {
  console.log(`not done after ${SECONDS} seconds`);
  await browser.close();
}, SECONDS * 1000);
const page = await browser.newPage();
page.setDefaultTimeout(60_000);
page.on("console", (message) => {
  if (message.type() === "error") console.log(`console: ${message.text()}`);
});
page.on("pageerror", (error) => console.log(`thrown: ${error.message}`));
page.on("request", (request) => {
  if (!OWN.some((start) => request.url().startsWith(start)))
    console.log(`another origin: ${request.url()}`);
});

const button = (name) => page.locator(`::-p-aria([name="${name}"][role="button"])`);
const text = (words) => page.locator(`::-p-text(${words})`).wait();

async function look(path) {
  await page.goto(url + path);
  await page.locator("h1").wait();
  const needed = await page.evaluate(() => document.documentElement.scrollWidth);
  if (needed > NARROW.width) console.log(`${path} is ${needed} wide, the screen ${NARROW.width}`);
}

try {
  await page.setViewport(NARROW);
  for (const path of PATHS) await look(path);
  await page.setViewport(WIDE);

  await page.goto(url);
  await button("Connect wallet").click();
  await button("Dev wallet").click();
  await page.locator(".choices li:nth-child(6) .choice").click();
  await page.locator("header .balance").wait();

  await page.goto(`${url}/credits`);
  await button("Deposit").click();
  await text("100 credits credited");

  await page.goto(`${url}/lobby`);
  await button("Play drifter").click();
  await button("Lock in").wait();
  await page.keyboard.press("1");
  await page.keyboard.press("l");
  await text("You: Rock");
  await button("Lock in").wait();
  await page.reload();
  await button("Lock in").wait();
} catch (error) {
  console.log(`stopped at ${page.url()}: ${error}`);
} finally {
  clearTimeout(late);
  await browser.close();
}
