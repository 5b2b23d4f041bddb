/**
 * Names of a service's database objects. They are fixed so that migrations can refer to roles: `GRANT … TO phds_consent` works on
 * every machine.
 */

const SERVICE = /^[a-z][a-z0-9]*(-[a-z0-9]+)*$/;

/** The Postgres schema of a service, e.g. `health_data` for `health-data`. Throws on an invalid service name. */
export function toSchemaName(service: string): string {
  if (!SERVICE.test(service)) throw new Error(`not a service name: ${JSON.stringify(service)}`);
  return service.replaceAll('-', '_');
}

/** The role a service connects with. It reads and writes rows of its own schema and cannot change tables. */
export function toRuntimeRole(service: string): string {
  return `phds_${toSchemaName(service)}`;
}

/** The role that owns a service's schema. Only migrations use it. */
export function toOwnerRole(service: string): string {
  return `${toRuntimeRole(service)}_owner`;
}

/** The role with read-only access to a service's tables. Used by operators, not by the service. */
export function toReaderRole(service: string): string {
  return `${toRuntimeRole(service)}_reader`;
}

/** Replaces the database and the user of a connection string; server and parameters stay. */
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
