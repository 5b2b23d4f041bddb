import { appTitle, findTellingDomain, type NamedAppAt } from '../../ui/app-title.ts';

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
    return `${title} (${findTellingDomain(app, alike) ?? app.clientId})`;
  };
  return new Map([...first.values()].map((app) => [app.clientId, toName(app)]));
}
