interface NamedApp {
  readonly clientId: string;
  readonly name: string;
}

/** What to call each app, by its client id: developers choose names, so one that several have stands with the id, and none is the id. */
export function nameApps(apps: readonly NamedApp[]): Map<string, string> {
  const names = new Map(apps.map(({ clientId, name }) => [clientId, name]));
  const bearers = Map.groupBy(names.keys(), (clientId) => names.get(clientId));
  const toUnique = (name: string, clientId: string) =>
    bearers.get(name)?.length === 1 ? name : `${name} (${clientId})`;
  return new Map(
    [...names].map(([clientId, name]) => [clientId, name === '' ? clientId : toUnique(name, clientId)]),
  );
}
