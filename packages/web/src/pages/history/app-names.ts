import type { NamedApp } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';

/**
 * Display names by client id. Developers choose names, so a name used by several apps is shown with the id. If an app occurs twice,
 * the first name counts.
 */
export function nameApps(apps: readonly NamedApp[]): Map<string, string> {
  const titles = new Map<string, string>();
  for (const app of apps) if (!titles.has(app.clientId)) titles.set(app.clientId, appTitle(app));
  const bearers = Map.groupBy(titles.keys(), (clientId) => titles.get(clientId));
  return new Map(
    [...titles].map(([clientId, title]) => [
      clientId,
      bearers.get(title)?.length === 1 ? title : `${title} (${clientId})`,
    ]),
  );
}
