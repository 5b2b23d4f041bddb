import type { Profile } from './app.ts';

/** One version of an app's profile, numbered from 1. */
export interface ShownVersion extends Profile {
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

/** A change that an app made to its profile. */
export interface AppChange {
  readonly field: keyof Profile;
  readonly from: string;
  readonly to: string;
  readonly at: Date;
}

const FIELDS = [
  'name',
  'description',
  'developerName',
  'homepageUrl',
  'privacyPolicyUrl',
] as const satisfies (keyof Profile)[];

/** The last change of each field, so their number is limited however often an app changes. */
export function toLatestChanges(changes: readonly AppChange[]): AppChange[] {
  return changes.filter(
    ({ field }, index) => changes.findLastIndex((change) => change.field === field) === index,
  );
}

/** The changes of an app since a version, oldest first. `versions` are in order; changes of missing versions are combined. */
export function listChanges(shown: ShownVersion, versions: readonly ProfileVersion[]): AppChange[] {
  const known = new Map(FIELDS.map((field) => [field, shown[field]]));
  return versions
    .filter(({ version }) => version > shown.version)
    .flatMap((after) =>
      FIELDS.flatMap((field) => {
        const [from, to] = [known.get(field) ?? '', after[field]];
        if (to === from) return [];
        known.set(field, to);
        return [{ field, from, to, at: after.since }];
      }),
    );
}
