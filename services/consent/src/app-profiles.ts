import {
  PROFILE_FIELDS,
  type Profile,
  type ProfileField,
  readProfile,
  toProfile,
} from '@phds/catalog/app-profile';
import { queryRows, readStatement, runStatement } from '@phds/service-kit/postgres/sql';
import type pg from 'pg';

/** An app as reported by authorization. */
export interface ReportedApp extends Profile {
  readonly clientId: string;
  /** User id of the developer. */
  readonly ownerId: string;
  /** Time of the developer's last change. */
  readonly updatedAt: Date;
}

/** One version of an app's profile, numbered from 1. */
interface ShownVersion extends Profile {
  readonly version: number;
}

/** A version with its start; it ended when the next one started. */
export interface ProfileVersion extends ShownVersion {
  readonly since: Date;
}

/** An app as shown on an approval screen. It is fixed when the request is opened, so that the decision applies to what was shown. */
export interface ShownApp extends ShownVersion {
  /** Host that receives the response. */
  readonly redirectHost: string;
}

/** Number of latest versions that are kept, besides the first. */
const KEPT_VERSIONS = 20;

/** A row with a profile as it is stored. It lacks the texts that the catalog got later. */
type Stored<Row extends Profile> = Omit<Row, ProfileField> & { readonly profile: Partial<Profile> };

const withTexts = <Row extends object>({
  profile,
  ...row
}: Row & { readonly profile: Partial<Profile> }) => ({
  ...row,
  ...readProfile(profile),
});

const TAKE = readStatement(new URL('store/sql/take-profile.sql', import.meta.url));
const KEEP_VERSION = readStatement(new URL('store/sql/keep-version.sql', import.meta.url));
const FIND_VERSIONS = readStatement(new URL('store/sql/find-versions.sql', import.meta.url));

/**
 * Stores the profile reported by authorization unless a newer one is known, because reports may arrive out of order. Returns the
 * current version. The transaction holds a lock on the app's row, so that versions are added in sequence.
 */
export async function takeProfile(tx: pg.ClientBase, app: ReportedApp): Promise<ShownVersion> {
  const { clientId, updatedAt } = app;
  const profile = toProfile((field) => app[field]);
  await runStatement(tx, TAKE, clientId, profile, updatedAt);
  const [kept] = await queryRows<Stored<ShownVersion>>(tx, KEEP_VERSION, clientId, KEPT_VERSIONS);
  if (kept === undefined) throw new Error(`app ${clientId} is gone although its row is locked`);
  return withTexts(kept);
}

/** The kept versions of these apps, by app, oldest first. */
export async function findVersions(
  pool: pg.Pool,
  clientIds: readonly string[],
): Promise<ReadonlyMap<string, ProfileVersion[]>> {
  type Version = Stored<ProfileVersion> & { clientId: string };
  const rows = await queryRows<Version>(pool, FIND_VERSIONS, [...new Set(clientIds)]);
  return Map.groupBy(rows.map(withTexts), ({ clientId }) => clientId);
}

/** The app of a row, as the person saw it. */
export function asShown(row: {
  readonly shownApp: ShownApp;
  readonly clientId: string;
  readonly ownerId: string;
}) {
  const { shownApp, clientId, ownerId } = row;
  // When it was changed is not shown.
  return { ...shownApp, clientId, ownerId, updatedAt: undefined };
}

/** A change that an app made to its profile. */
export interface AppChange {
  readonly field: ProfileField;
  readonly from: string;
  readonly to: string;
  readonly at: Date;
}

/** The last change of each field, so their number is limited however often an app changes. */
export function toLatestChanges(changes: readonly AppChange[]): AppChange[] {
  return changes.filter(
    ({ field }, index) => changes.findLastIndex((change) => change.field === field) === index,
  );
}

/** The changes of an app since a version, oldest first. `versions` are in order; changes of missing versions are combined. */
export function listChanges(shown: ShownVersion, versions: readonly ProfileVersion[]): AppChange[] {
  const known = new Map(PROFILE_FIELDS.map((field) => [field, shown[field]]));
  return versions
    .filter(({ version }) => version > shown.version)
    .flatMap((after) =>
      PROFILE_FIELDS.flatMap((field) => {
        const [from, to] = [known.get(field) ?? '', after[field]];
        if (to === from) return [];
        known.set(field, to);
        return [{ field, from, to, at: after.since }];
      }),
    );
}
