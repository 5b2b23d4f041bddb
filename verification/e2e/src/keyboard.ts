import type { Locator, Page } from 'playwright-core';

const MAX_STOPS = 120;

/** A person who uses a page by keyboard only and must always see the focus. */
export class Keyboard {
  readonly #page: Page;

  constructor(page: Page) {
    this.#page = page;
  }

  /**
   * Presses Tab (or Shift+Tab) until `target` has the focus. Throws when the focus is invisible on the way, or when `target` is
   * never reached. Returns the number of stops.
   */
  async tabTo(target: Locator, key: 'Tab' | 'Shift+Tab' = 'Tab'): Promise<number> {
    const wanted = await target.elementHandle();
    for (let stops = 0; stops < MAX_STOPS; stops += 1) {
      await this.press(key);
      const [stop] = await this.#page.locator(':focus').evaluateAll(
        (elements, sought) =>
          elements.map((element) => {
            // A checkbox is drawn by its label, which then shows the focus.
            const isSeen = [element, element.closest('label') ?? element].some((drawn) => {
              const { outlineStyle, outlineWidth } = drawn.ownerDocument.defaultView.getComputedStyle(drawn);
              const { width, height } = drawn.getBoundingClientRect();
              return outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 2 && width * height > 10;
            });
            return { isWanted: element === sought, isSeen, html: element.outerHTML };
          }),
        wanted,
      );
      if (stop?.isSeen === false) throw new Error(`the focus cannot be seen on ${stop.html}`);
      if (stop?.isWanted === true) return stops + 1;
    }
    throw new Error(`not reached with ${key}: ${target}`);
  }

  /** Moves to a button or link, waits until it is enabled, and presses Enter. */
  async activate(target: Locator, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
    await this.tabTo(target, key);
    await target.and(this.#page.locator(':not([aria-disabled="true"])')).waitFor();
    await this.press('Enter');
  }

  /** Moves to a field and types. In a select, typing the beginning of an entry chooses it. */
  async fill(target: Locator, text: string, key?: 'Tab' | 'Shift+Tab'): Promise<void> {
    await this.tabTo(target, key);
    await this.#page.keyboard.type(text);
  }

  press(key: string): Promise<void> {
    return this.#page.keyboard.press(key);
  }

  /** Waits until the focus is on or within `target`. */
  waitForFocusIn(target: Locator): Promise<void> {
    return target.and(this.#page.locator(':focus-within')).waitFor();
  }
}
