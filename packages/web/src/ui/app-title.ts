import type { NamedApp } from '../api/resources.ts';
import { text } from '../texts/frame.ts';
import { isolated } from '../texts/isolated.ts';

/** An app, and the domain of its redirect URI if that is known. */
interface NamedAppAt extends NamedApp {
  readonly redirectHost?: string | null;
}

/** The title of an app: the approved name, with the current one if it differs; the id if it has no name. */
export function appTitle({ clientId, name, currentName }: NamedApp): string {
  if (name === '') return clientId;
  return currentName === undefined ? isolated(name) : text('appNowCalled', { name, currentName });
}

/**
 * The domain that an app gets its answers at, because developers choose names; with the id if that does not tell it from the other shown
 * apps of the same title.
 */
export function findDomain(app: NamedAppAt, shown: readonly NamedAppAt[]): string {
  if (!app.redirectHost) return app.clientId;
  const isAlike = (other: NamedAppAt) =>
    other.clientId !== app.clientId &&
    appTitle(other) === appTitle(app) &&
    other.redirectHost === app.redirectHost;
  return shown.some(isAlike) ? `${app.redirectHost} · ${app.clientId}` : app.redirectHost;
}

/** Titles by client id, those of several apps with their domains. If an app occurs twice, the first title counts. */
export function nameApps(apps: readonly NamedAppAt[]): Map<string, string> {
  const first = new Map(apps.toReversed().map((app) => [app.clientId, app]));
  const bearers = Map.groupBy(first.values(), appTitle);
  const toName = (app: NamedAppAt): string => {
    const title = appTitle(app);
    const alike = bearers.get(title) ?? [];
    return alike.length === 1 ? title : `${title} (${findDomain(app, alike)})`;
  };
  return new Map(apps.map(({ clientId }) => [clientId, toName(first.get(clientId) as NamedAppAt)]));
}
