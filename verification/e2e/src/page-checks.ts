import type { ElementHandle, Page } from 'playwright-core';

/** The least height of something to tap, in CSS pixels. Links inside a sentence are exempt (WCAG 2.5.8). */
const TARGET_PX = 44;
const MAX_STOPS = 300;

const TARGETS = 'a[href], button, input, select, textarea, summary';

// The functions below run in the page.

/** An element of the page, whose type the compiler does not know here. */
type Drawn = ElementHandle extends ElementHandle<infer Held> ? Held : never;

interface Box {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** The visible buttons, links and fields that are lower than `least`, one line each. */
function findLowTargets(root: Drawn, [selector, least]: readonly [string, number]): string[] {
  const view = root.ownerDocument.defaultView;
  // A checkbox or radio button is drawn by its label, which is tapped.
  const toTapped = (element: Drawn) => element.closest('label') ?? element;
  const isInSentence = (element: Drawn) => {
    const isInline = view.getComputedStyle(element).display === 'inline';
    const around = element.parentElement?.textContent?.trim() ?? '';
    return element.tagName === 'A' && isInline && around !== element.textContent?.trim();
  };
  const isDrawn = ({ left, top, right, bottom }: Box) =>
    right > Math.max(0, left) && bottom > Math.max(top, -view.scrollY);
  return Array.from<Drawn>(root.querySelectorAll(selector))
    .filter((element) => element.checkVisibility() && !isInSentence(element))
    .map((element) => ({ element, box: toTapped(element).getBoundingClientRect() }))
    .filter(({ box }) => isDrawn(box) && box.height < least - 0.5)
    .map(({ element, box }) => `${Math.round(box.height)} px: ${element.outerHTML.slice(0, 160)}`);
}

/** Whether the focused element is off the screen or something covers its middle; null when nothing in the page has the focus. */
function judgeFocus(root: Drawn): { isHidden: boolean; html: string } | null {
  const { activeElement, body, defaultView: view } = root.ownerDocument;
  if (activeElement === null || activeElement === body) return null;
  const drawn = activeElement.closest('label') ?? activeElement;
  const { left, right, top, bottom } = drawn.getBoundingClientRect();
  const [x, y] = [(left + right) / 2, (Math.max(0, top) + Math.min(view.innerHeight, bottom)) / 2];
  const found = root.ownerDocument.elementFromPoint(x, y);
  const isHidden = found === null || !(drawn.contains(found) || found.contains(drawn));
  return { isHidden, html: activeElement.outerHTML.slice(0, 160) };
}

/** The buttons, links and fields of the page that are too low to tap; links inside a sentence are exempt. */
export function findSmallTargets(page: Page): Promise<string[]> {
  return page.locator(':root').evaluate(findLowTargets, [TARGETS, TARGET_PX] as const);
}

/** Tabs once through the page and returns each stop whose focused element cannot be seen (WCAG 2.4.11). */
export async function findHiddenStops(page: Page): Promise<string[]> {
  const root = page.locator(':root');
  const hidden: string[] = [];
  for (let stops = 0; stops < MAX_STOPS; stops += 1) {
    await page.keyboard.press('Tab');
    const stop = await root.evaluate(judgeFocus);
    // Behind the last stop the focus leaves the page.
    if (stop === null) {
      if (stops === 0) throw new Error('The page has nothing to focus.');
      return hidden;
    }
    if (stop.isHidden) hidden.push(stop.html);
  }
  throw new Error(`more than ${MAX_STOPS} stops`);
}

/** Opens everything that is folded. */
export async function unfold(page: Page): Promise<void> {
  await page.locator('details').evaluateAll((folded) => {
    for (const details of folded) details.setAttribute('open', '');
  });
  await page.locator('main button[aria-expanded=false]').evaluateAll((folded) => {
    for (const button of folded) button.click();
  });
}
