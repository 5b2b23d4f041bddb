import type { Page } from 'playwright-core';

/** Signs in as this person on the page of the development identity provider, which is open or about to open. */
export async function pickPerson(page: Page, user: string): Promise<void> {
  await page.getByLabel('Somebody else').fill(user);
  // The page may be a tab that closes itself after the sign-in.
  await page.getByRole('button', { name: 'Sign in', exact: true }).click({ noWaitAfter: true });
}

/** Presses the link that opens the sign-in in a new tab. Returns the tab. */
export async function openSignInTab(page: Page): Promise<Page> {
  const tab = page.context().waitForEvent('page');
  await page.getByRole('alertdialog').getByRole('link', { name: 'Sign in' }).click();
  return tab;
}
