import type { Profile } from './app.ts';

/** One of the profiles that an app has had; the numbers grow from 1 on. */
export interface ShownVersion extends Profile {
  readonly version: number;
}

/** The same with its beginning; it ended when the next version began. */
export interface ProfileVersion extends ShownVersion {
  readonly since: Date;
}

/** An app as an approval screen shows it: fixed when the app asks, so that a decision cannot be about anything else. */
export interface ShownApp extends ShownVersion {
  /** Where the answer goes. */
  readonly redirectHost: string;
}

/** Something an app changed about itself. */
export interface AppChange {
  readonly field: keyof Profile;
  readonly from: string;
  readonly to: string;
  readonly at: Date;
}

const FIELDS = ['name', 'homepageUrl', 'privacyPolicyUrl', 'logoUrl'] as const satisfies (keyof Profile)[];

/** Of changes in their order, the last one of each field: as many as there are fields, however often an app changes. */
export function toLatestChanges(changes: readonly AppChange[]): AppChange[] {
  return changes.filter(
    ({ field }, index) => changes.findLastIndex((change) => change.field === field) === index,
  );
}

/** What an app changed since a version, oldest first. `versions` come in their order; where some are missing their changes count as one. */
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
