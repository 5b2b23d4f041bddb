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

const FIELDS = ['name', 'homepageUrl', 'privacyPolicyUrl', 'logoUrl'] as const satisfies (keyof Profile)[];

/** The last change of each field, so their number is limited however often an app changes. */
export function toLatestChanges(changes: readonly AppChange[]): AppChange[] {
  return changes.filter(
    ({ field }, index) => changes.findLastIndex((change) => change.field === field) === index,
  );
}

/** The changes of an app since a version, oldest first. `versions` are in order; changes of missing versions are combined. */
export function listChanges(shown: ShownVersion, versions: readonly ProfileVersion[]): AppChange[] {
  const newer = versions.filter(({ version }) => version > shown.version);
  return newer.flatMap((after, index) => {
    const before = newer[index - 1] ?? shown;
    return FIELDS.filter((field) => before[field] !== after[field]).map((field) => ({
      field,
      from: before[field],
      to: after[field],
      at: after.since,
    }));
  });
}
