import type { paths } from './generated/openapi.ts';

type Answer<Path extends keyof paths> = paths[Path] extends {
  readonly get: {
    readonly responses: { readonly 200: { readonly content: { readonly 'application/json': infer Body } } };
  };
}
  ? Body
  : never;

type QueryOf<Path extends keyof paths> = paths[Path] extends {
  readonly get: { readonly parameters: { readonly query?: infer Query } };
}
  ? NonNullable<Query>
  : never;

/** An item of the list at this path. */
export type ItemOf<Path extends keyof paths> =
  Extract<Answer<Path>, { readonly pagination: unknown }> extends { readonly data: readonly (infer Item)[] }
    ? Item
    : never;

/** The object at this path. */
type ObjectOf<Path extends keyof paths> = Answer<Path> extends { readonly data: infer Data } ? Data : never;

/** The query parameters of this path; times may be dates of JavaScript. */
export type Query<Path extends keyof paths> = {
  readonly [Name in keyof QueryOf<Path>]: Name extends 'from' | 'to'
    ? QueryOf<Path>[Name] | Date
    : QueryOf<Path>[Name];
};

type HealthDataPath = '/api/v1/health-data/{category}';

/** `heart`, `sleep` and the other categories of readings. */
export type Category = paths[HealthDataPath]['get']['parameters']['path']['category'];

export type Reading = ItemOf<HealthDataPath>;
export type ReadingQuery = Omit<Query<HealthDataPath>, 'updatedSince'>;
export type Aggregations = ObjectOf<'/api/v1/aggregations'>;
export type TrendPoint = ItemOf<'/api/v1/trends'>;
export type Symptom = ItemOf<'/api/v1/symptoms'>;
export type Medication = ItemOf<'/api/v1/medications'>;
export type AdherenceEntry = ItemOf<'/api/v1/medications/{id}/adherence'>;
export type Condition = ItemOf<'/api/v1/conditions'>;
export type Allergy = ItemOf<'/api/v1/allergies'>;
export type Appointment = ItemOf<'/api/v1/appointments'>;
export type WeightEntry = ItemOf<'/api/v1/weight'>;
export type MoodEntry = ItemOf<'/api/v1/mood'>;
export type Report = ItemOf<'/api/v1/reports'>;
export type Profile = ObjectOf<'/api/v1/profile'>;
export type EhrRecord = ItemOf<'/api/v1/ehr'>;

/** A consent grant, as `GET /oauth/grants` answers it. */
export type Grant = ItemOf<'/oauth/grants'>;

export type GrantQuery = Query<'/oauth/grants'>;

/** What is known about a token (RFC 7662). */
export type Introspection =
  paths['/oauth/introspect']['post']['responses'][200]['content']['application/json'];
