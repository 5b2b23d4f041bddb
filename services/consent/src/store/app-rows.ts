import sql from 'sql-template-tag';
import type { AppProfile, Profile } from '../domain/app.ts';

/** The profile columns of an app `a`. */
export const APP_COLUMNS = sql`a.client_id AS "appClientId", a.name AS "appName", a.owner_id AS "appOwnerId",
  a.description AS "appDescription", a.developer_name AS "appDeveloperName",
  a.homepage_url AS "appHomepageUrl", a.privacy_policy_url AS "appPrivacyPolicyUrl"`;

/** An app's profile as read from the database. */
export interface AppRow {
  readonly appClientId: string;
  readonly appName: string;
  readonly appOwnerId: string;
  readonly appDescription: string;
  readonly appDeveloperName: string;
  readonly appHomepageUrl: string;
  readonly appPrivacyPolicyUrl: string;
}

export function toAppProfile(row: AppRow): AppProfile {
  return {
    clientId: row.appClientId,
    name: row.appName,
    ownerId: row.appOwnerId,
    description: row.appDescription,
    developerName: row.appDeveloperName,
    homepageUrl: row.appHomepageUrl,
    privacyPolicyUrl: row.appPrivacyPolicyUrl,
  };
}

/** An app with the profile that a person saw. */
export function toAppAsShown(row: AppRow, shown: Profile): AppProfile {
  const { name, description, developerName, homepageUrl, privacyPolicyUrl } = shown;
  return { ...toAppProfile(row), name, description, developerName, homepageUrl, privacyPolicyUrl };
}
