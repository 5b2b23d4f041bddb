import type { NamedApp } from '../../api/resources.ts';
import { appTitle } from '../../ui/app-title.ts';

/** An app, and the domain of its redirect URI if that is known. */
export interface NamedAppAt extends NamedApp {
  readonly redirectHost?: string | null;
}

/**
 * Display names by client id. Developers choose names, so a name used by several apps is shown with the app's domain, or with its id
 * if the domain does not tell it from the others. If an app occurs twice, the first name counts.
 */
export function nameApps(apps: readonly NamedAppAt[]): Map<string, string> {
  const first = new Map<string, NamedAppAt>();
  for (const app of apps) if (!first.has(app.clientId)) first.set(app.clientId, app);
  const bearers = Map.groupBy(first.values(), appTitle);
  const toName = (app: NamedAppAt): string => {
    const title = appTitle(app);
    const alike = bearers.get(title) ?? [];
    if (alike.length === 1) return title;
    const isAlone = alike.filter(({ redirectHost }) => redirectHost === app.redirectHost).length === 1;
    return `${title} (${(isAlone ? app.redirectHost : null) ?? app.clientId})`;
  };
  return new Map([...first.values()].map((app) => [app.clientId, toName(app)]));
}
