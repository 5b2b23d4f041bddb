import { findTellingDomain, type NamedAppAt } from '../../ui/app-title.ts';

/** The domain that an app gets its answers at; with the id if that does not tell it from the other shown apps. */
export function findDomain(app: NamedAppAt, shown: readonly NamedAppAt[]): string {
  const domain = findTellingDomain(app, shown);
  if (domain !== null) return domain;
  return app.redirectHost ? `${app.redirectHost} · ${app.clientId}` : app.clientId;
}
