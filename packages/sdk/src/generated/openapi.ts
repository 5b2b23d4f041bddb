// Generated from openapi.json by bin/generate-types.ts. Do not edit.
export interface paths {
    readonly "/api/v1/aggregations": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:aggregations`. */
        readonly get: operations["aggregations"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/allergies": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:allergies`. */
        readonly get: operations["allergies"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/appointments": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:appointments`. */
        readonly get: operations["appointments"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/conditions": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:conditions`. */
        readonly get: operations["conditions"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/ehr": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:ehr`. */
        readonly get: operations["ehr"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/health-data/{category}": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:health-data:{category}`. */
        readonly get: operations["health-data"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/medications": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:medications`. */
        readonly get: operations["medications"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/medications/{id}/adherence": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:medications`. */
        readonly get: operations["adherence"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/mood": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:mood`. */
        readonly get: operations["mood"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/profile": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:profile`. */
        readonly get: operations["profile"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/reports": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:reports`. */
        readonly get: operations["reports"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/symptoms": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:symptoms`. */
        readonly get: operations["symptoms"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/trends": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:trends`. */
        readonly get: operations["trends"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
    readonly "/api/v1/weight": {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        /** @description Needs `read:weight`. */
        readonly get: operations["weight"];
        readonly put?: never;
        readonly post?: never;
        readonly delete?: never;
        readonly options?: never;
        readonly head?: never;
        readonly patch?: never;
        readonly trace?: never;
    };
}
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        readonly adherence: {
            readonly dose: string | null;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly reason: string | null;
            /** Format: date-time */
            readonly scheduledAt: string | null;
            /** @enum {unknown} */
            readonly status: "taken" | "skipped" | "missed" | "pending";
            /** Format: date-time */
            readonly takenAt: string | null;
        };
        readonly aggregations: {
            readonly from: string | null;
            /** Format: date-time */
            readonly generatedAt: string;
            readonly metrics: readonly {
                readonly average: number | null;
                /** @enum {unknown} */
                readonly basis: "reading" | "day";
                /** @enum {unknown} */
                readonly category: "heart" | "blood-pressure" | "oxygen" | "respiratory" | "glucose" | "temperature" | "activity" | "sleep" | "body-composition" | "mindfulness";
                readonly count: number;
                readonly latest: {
                    /** Format: date-time */
                    readonly timestamp: string;
                    readonly value: number | null;
                } | null;
                readonly max: number | null;
                readonly min: number | null;
                readonly outOfRange: {
                    readonly above: number;
                    readonly below: number;
                    readonly total: number;
                } | null;
                readonly referenceRange: {
                    readonly high: number;
                    readonly low: number;
                    readonly source: string;
                } | null;
                readonly sum: number | null;
                /** @enum {unknown} */
                readonly type: "Heart Rate" | "Resting HR" | "Walking HR" | "HRV" | "ECG" | "Blood Pressure" | "BP Diastolic" | "SPO2" | "Respiratory Rate" | "Respiratory" | "Glucose" | "Temperature" | "Steps" | "Distance" | "Calories" | "Basal Calories" | "Exercise" | "Flights" | "Sleep" | "Sleep Deep" | "Sleep Core" | "Sleep REM" | "Sleep Awake" | "Time in Bed" | "Weight" | "Height" | "BMI" | "Body Fat" | "Mindfulness";
                readonly unit: string;
            }[];
            readonly timeZone: string;
            readonly to: string | null;
        };
        readonly allergies: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly name: string;
            /** @enum {unknown} */
            readonly severity: "mild" | "moderate" | "severe" | null;
            readonly sinceDate: string | null;
        };
        readonly appointments: {
            /** Format: date-time */
            readonly dateTime: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly location: string | null;
            readonly specialty: string | null;
            readonly title: string;
        };
        readonly conditions: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly name: string;
            /** @enum {unknown} */
            readonly severity: "mild" | "moderate" | "severe" | null;
            readonly sinceDate: string | null;
        };
        readonly ehr: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly resourceType: string;
            readonly summary: string;
            /** Format: date-time */
            readonly timestamp: string;
        };
        readonly "health-data": {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly source: string;
            /** Format: date-time */
            readonly timestamp: string;
            /** @enum {unknown} */
            readonly type: "Heart Rate" | "Resting HR" | "Walking HR" | "HRV" | "ECG" | "Blood Pressure" | "BP Diastolic" | "SPO2" | "Respiratory Rate" | "Respiratory" | "Glucose" | "Temperature" | "Steps" | "Distance" | "Calories" | "Basal Calories" | "Exercise" | "Flights" | "Sleep" | "Sleep Deep" | "Sleep Core" | "Sleep REM" | "Sleep Awake" | "Time in Bed" | "Weight" | "Height" | "BMI" | "Body Fat" | "Mindfulness";
            readonly unit: string;
            readonly value: number | null;
        };
        readonly medications: {
            readonly condition: string | null;
            readonly dosage: string | null;
            readonly frequency: string | null;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly name: string;
            /** @enum {unknown} */
            readonly pattern: "QD" | "BID" | "TID" | "QID" | "QOD" | "AM" | "PM" | "BED" | "Q1H" | "Q2H" | "Q3H" | "Q4H" | "Q6H" | "Q8H" | "WK" | "MO" | "PRN" | "OTHER" | null;
        };
        readonly mood: {
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            /** @enum {unknown} */
            readonly mood: "veryUnpleasant" | "unpleasant" | "slightlyUnpleasant" | "neutral" | "slightlyPleasant" | "pleasant" | "veryPleasant";
            readonly note: string | null;
            /** Format: date-time */
            readonly timestamp: string;
        };
        readonly pagination: {
            readonly page: number;
            readonly pageSize: number;
            readonly total: number;
            readonly totalPages: number;
        };
        readonly problem: {
            /** @enum {unknown} */
            readonly code: "UNAUTHORIZED" | "TOKEN_EXPIRED" | "INSUFFICIENT_SCOPE" | "CONSENT_REQUIRED" | "STEP_UP_REQUIRED" | "RATE_LIMITED" | "INVALID_REQUEST" | "UNSUPPORTED_VERSION" | "NOT_FOUND" | "ACCESS_NOT_RECORDED" | "INTERNAL_ERROR" | "CONFLICT" | "PENDING_EXPIRED" | "ALREADY_DECIDED" | "APP_NOT_ACTIVE" | "NO_SCOPES_APPROVED" | "INVALID_GRANT" | "INVALID_SCOPE" | "UNSUPPORTED_GRANT_TYPE" | "UNAUTHORIZED_CLIENT";
            readonly detail: string;
            readonly requestId?: string;
            readonly status: number;
            readonly title: string;
            /**
             * Format: uri-reference
             * @description Address of a page about the code on this server
             */
            readonly type: string;
        };
        readonly profile: {
            /** @enum {unknown} */
            readonly bloodType: "A+" | "A-" | "B+" | "B-" | "AB+" | "AB-" | "O+" | "O-" | null;
            /** Format: date */
            readonly dateOfBirth: string | null;
            /** @enum {unknown} */
            readonly gender: "male" | "female" | "other" | "unknown" | null;
            readonly name: string | null;
        };
        readonly reports: {
            readonly dateRange: {
                /** Format: date */
                readonly from: string;
                /** Format: date */
                readonly to: string;
            };
            /** Format: date-time */
            readonly generatedAt: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly summary: string;
        };
        readonly symptoms: {
            readonly description: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            /** @enum {unknown} */
            readonly severity: "mild" | "moderate" | "severe" | null;
            /** Format: date-time */
            readonly timestamp: string;
        };
        readonly trends: {
            readonly average: number | null;
            /** @enum {unknown} */
            readonly bucket: "hour" | "day";
            readonly count: number;
            /**
             * Format: date-time
             * @description Exclusive; of the same part
             */
            readonly end: string;
            readonly max: number | null;
            readonly min: number | null;
            /**
             * Format: date-time
             * @description Of the part of the bucket that lies in the window; with the offset of the zone
             */
            readonly start: string;
            readonly sum: number | null;
            /** @enum {unknown} */
            readonly type: "Heart Rate" | "Resting HR" | "Walking HR" | "HRV" | "ECG" | "Blood Pressure" | "BP Diastolic" | "SPO2" | "Respiratory Rate" | "Respiratory" | "Glucose" | "Temperature" | "Steps" | "Distance" | "Calories" | "Basal Calories" | "Exercise" | "Flights" | "Sleep" | "Sleep Deep" | "Sleep Core" | "Sleep REM" | "Sleep Awake" | "Time in Bed" | "Weight" | "Height" | "BMI" | "Body Fat" | "Mindfulness";
            readonly unit: string;
            readonly value: number | null;
        };
        readonly weight: {
            /** Format: date */
            readonly date: string;
            /** @description Stable for one app; other apps get other ids for the same item. */
            readonly id: string;
            readonly weightKg: number;
        };
    };
    responses: {
        /** @description INVALID_REQUEST or UNSUPPORTED_VERSION */
        readonly 400: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
        /** @description TOKEN_EXPIRED or UNAUTHORIZED */
        readonly 401: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
        /** @description INSUFFICIENT_SCOPE or CONSENT_REQUIRED */
        readonly 403: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
        /** @description NOT_FOUND */
        readonly 404: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
        /** @description RATE_LIMITED; ask again after the seconds in Retry-After */
        readonly 429: {
            headers: {
                /** @description Requests left (r), and seconds until all are there again (t) */
                readonly RateLimit?: string;
                /** @description Name, requests (q) and seconds (w) of the limit */
                readonly "RateLimit-Policy"?: string;
                /** @description Seconds */
                readonly "Retry-After"?: number;
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
        /** @description INTERNAL_ERROR */
        readonly 500: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
        /** @description ACCESS_NOT_RECORDED or INTERNAL_ERROR; ask again later */
        readonly 503: {
            headers: {
                readonly [name: string]: unknown;
            };
            content: {
                readonly "application/problem+json": components["schemas"]["problem"];
            };
        };
    };
    parameters: {
        /** @description Width of a point */
        readonly bucket: "hour" | "day";
        readonly category: "heart" | "blood-pressure" | "oxygen" | "respiratory" | "glucose" | "temperature" | "activity" | "sleep" | "body-composition" | "mindfulness";
        /** @description Inclusive: a date or an RFC 3339 instant */
        readonly from: string;
        /** @description Medication id */
        readonly id: string;
        /** @description Which page */
        readonly page: number;
        /** @description Items on a page; more than 100 is taken as 100 */
        readonly pageSize: number;
        /** @description IANA time zone; absent: the user’s */
        readonly timeZone: string;
        /** @description Exclusive: a date or an RFC 3339 instant */
        readonly to: string;
        /** @description Metric type */
        readonly type: "Heart Rate" | "Resting HR" | "Walking HR" | "HRV" | "ECG" | "Blood Pressure" | "BP Diastolic" | "SPO2" | "Respiratory Rate" | "Respiratory" | "Glucose" | "Temperature" | "Steps" | "Distance" | "Calories" | "Basal Calories" | "Exercise" | "Flights" | "Sleep" | "Sleep Deep" | "Sleep Core" | "Sleep REM" | "Sleep Awake" | "Time in Bed" | "Weight" | "Height" | "BMI" | "Body Fat" | "Mindfulness";
    };
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type $defs = Record<string, never>;
export interface operations {
    readonly aggregations: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description IANA time zone; absent: the user’s */
                readonly timeZone?: components["parameters"]["timeZone"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
                /** @description Metric type */
                readonly type?: components["parameters"]["type"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["aggregations"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly allergies: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["allergies"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly appointments: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["appointments"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly conditions: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["conditions"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly ehr: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["ehr"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly "health-data": {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
                /** @description Metric type */
                readonly type?: components["parameters"]["type"];
            };
            readonly header?: never;
            readonly path: {
                readonly category: components["parameters"]["category"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["health-data"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly medications: {
        readonly parameters: {
            readonly query?: {
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["medications"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly adherence: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path: {
                /** @description Medication id */
                readonly id: components["parameters"]["id"];
            };
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["adherence"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly mood: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["mood"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly profile: {
        readonly parameters: {
            readonly query?: never;
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: components["schemas"]["profile"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly reports: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["reports"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly symptoms: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["symptoms"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly trends: {
        readonly parameters: {
            readonly query?: {
                /** @description Width of a point */
                readonly bucket?: components["parameters"]["bucket"];
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description IANA time zone; absent: the user’s */
                readonly timeZone?: components["parameters"]["timeZone"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
                /** @description Metric type */
                readonly type?: components["parameters"]["type"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["trends"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
    readonly weight: {
        readonly parameters: {
            readonly query?: {
                /** @description Inclusive: a date or an RFC 3339 instant */
                readonly from?: components["parameters"]["from"];
                /** @description Which page */
                readonly page?: components["parameters"]["page"];
                /** @description Items on a page; more than 100 is taken as 100 */
                readonly pageSize?: components["parameters"]["pageSize"];
                /** @description Exclusive: a date or an RFC 3339 instant */
                readonly to?: components["parameters"]["to"];
            };
            readonly header?: never;
            readonly path?: never;
            readonly cookie?: never;
        };
        readonly requestBody?: never;
        readonly responses: {
            /** @description The data */
            readonly 200: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content: {
                    readonly "application/json": {
                        readonly data: readonly components["schemas"]["weight"][];
                        readonly pagination: components["schemas"]["pagination"];
                    };
                };
            };
            /** @description Not changed since the entity tag in If-None-Match */
            readonly 304: {
                headers: {
                    readonly [name: string]: unknown;
                };
                content?: never;
            };
            readonly 400: components["responses"]["400"];
            readonly 401: components["responses"]["401"];
            readonly 403: components["responses"]["403"];
            readonly 404: components["responses"]["404"];
            readonly 429: components["responses"]["429"];
            readonly 500: components["responses"]["500"];
            readonly 503: components["responses"]["503"];
        };
    };
}
