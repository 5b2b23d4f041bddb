import { PartnerApp } from '@phds/running-system/partner-app';
import type { Visitor } from '@phds/running-system/visitor';

/** The scopes of an app that is registered on the page. */
const SCOPES = ['read:health-data:heart', 'read:profile'];

/** Registers an app on the open registration page and returns it with the credentials shown. */
export async function registerOnPage({ page }: Visitor, gateway: string, name: string): Promise<PartnerApp> {
  await page.getByLabel('Name', { exact: true }).fill(name);
  await page.getByLabel('Redirect URIs').fill('http://localhost:9999/callback');
  for (const scope of SCOPES) await page.getByText(scope, { exact: true }).click();
  await page.getByRole('button', { name: 'Register' }).click();
  await page.getByRole('heading', { name: `${name} is registered` }).waitFor();
  const [clientId = '', clientSecret = ''] = await page.locator('dd code').allTextContents();
  return new PartnerApp(gateway, { clientId, clientSecret });
}
