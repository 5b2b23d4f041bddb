/**
 * The names that a service's database objects have everywhere. They are fixed so that migrations can name roles:
 * `GRANT … TO phds_consent` is true on every machine.
 */

const SERVICE = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** The Postgres schema of a service: `health-data` has `health_data`. Throws on what is no service name. */
export function toSchemaName(service: string): string {
  if (!SERVICE.test(service)) throw new Error(`not a service name: ${JSON.stringify(service)}`);
  return service.replaceAll('-', '_');
}

/** The role a service connects with: reads and writes rows of its own schema, changes no table. */
export function toRuntimeRole(service: string): string {
  return `phds_${toSchemaName(service)}`;
}

/** The role that owns a service's schema; migrations run as it and nothing else does. */
export function toOwnerRole(service: string): string {
  return `${toRuntimeRole(service)}_owner`;
}

/** The role that reads a service's tables and changes nothing; the service itself has no use for it. */
export function toReaderRole(service: string): string {
  return `${toRuntimeRole(service)}_reader`;
}

/** The same server and parameters as `url`, with another database and user. */
export function toDatabaseUrl(
  url: string,
  target: { readonly database?: string; readonly user?: string; readonly password?: string },
): string {
  const parsed = new URL(url);
  if (target.database !== undefined) parsed.pathname = `/${encodeURIComponent(target.database)}`;
  if (target.user !== undefined) parsed.username = encodeURIComponent(target.user);
  if (target.password !== undefined) parsed.password = encodeURIComponent(target.password);
  return parsed.href;
}
