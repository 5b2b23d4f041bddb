import type { EndpointId } from '@phds/catalog/endpoints';
import {
  ADHERENCE_STATUSES,
  AGGREGATION_BASES,
  BLOOD_TYPES,
  GENDERS,
  MEDICATION_PATTERNS,
  MOODS,
  SEVERITIES,
  TREND_BUCKETS,
} from '@phds/catalog/wire-names';
import { z } from 'zod';
import {
  category,
  count,
  date,
  instant,
  instantOrNull,
  metricType,
  text,
  textOrNull,
} from '../openapi/fields.ts';

// health-data writes these bodies, and the gateway passes them on unread. Tests compare real answers with the document.

const number = z.number();
const timeZone = text.meta({ description: 'IANA time zone of the person; UTC for a person who has none.' });
const id = text.meta({ description: 'Stable for one app; other apps get other ids for the same item.' });
const severity = z.enum(SEVERITIES).nullable();
const sinceDate = textOrNull.meta({ description: 'May be partial: 2019 or 2019-05.' });
const zonedInstant = text.meta({ format: 'date-time', description: 'With the offset of the time zone.' });

const aggregation = z
  .object({
    type: metricType,
    category,
    unit: text,
    basis: z.enum(AGGREGATION_BASES),
    count,
    average: number.nullable(),
    min: number.nullable(),
    max: number.nullable(),
    sum: number.nullable(),
    latest: z.object({ value: number.nullable(), timestamp: instant }).nullable(),
    referenceRange: z.object({ low: number, high: number, source: text }).nullable(),
    outOfRange: z.object({ below: count, above: count, total: count }).nullable(),
  })
  .meta({ id: 'MetricSummary' });

const updatedAt = instant.meta({ description: 'When the change was committed.' });

/** The answer to `updatedSince`. */
export const CHANGES = z
  .object({
    data: z.array(
      z.discriminatedUnion('deleted', [
        z
          .object({
            id,
            type: metricType,
            value: number.nullable(),
            unit: text,
            timestamp: instant,
            source: text,
            updatedAt,
            deleted: z.literal(false),
          })
          .meta({ id: 'ChangedReading' }),
        z
          .object({ id, type: metricType, timestamp: instant, updatedAt, deleted: z.literal(true) })
          .meta({ id: 'DeletedReading' }),
      ]),
    ),
    sync: z.object({
      cursor: text.meta({
        description:
          'The next `updatedSince`. Opaque, another text each time; keep it together with the readings.',
      }),
      hasMore: z.boolean().meta({
        description:
          'Whether to go on with `cursor` now. With a `type`, also true on a page with few items or none if the search is not at its end.',
      }),
      lastDataAt: instantOrNull.meta({
        description: 'Time of the latest change of the category that the app may see; null if there is none.',
      }),
      timeZone,
    }),
  })
  .meta({ id: 'Changes', description: 'With `updatedSince`: what changed, the oldest change first.' });

/** The items of each list, and the object of each other endpoint. */
export const DATA_ITEMS: Readonly<Record<EndpointId, z.ZodType>> = {
  'health-data': z
    .object({ id, type: metricType, value: number.nullable(), unit: text, timestamp: instant, source: text })
    .meta({ id: 'Reading' }),
  aggregations: z
    .object({
      from: textOrNull,
      to: textOrNull,
      timeZone: text,
      generatedAt: instant,
      metrics: z.array(aggregation),
    })
    .meta({ id: 'Aggregations' }),
  trends: z
    .object({
      type: metricType,
      bucket: z.enum(TREND_BUCKETS),
      start: zonedInstant.meta({
        description: 'Of the part of the bucket that lies in the window; with the offset of the zone.',
      }),
      end: zonedInstant.meta({ description: 'Exclusive; of the same part.' }),
      unit: text,
      value: number.nullable(),
      count,
      average: number.nullable(),
      min: number.nullable(),
      max: number.nullable(),
      sum: number.nullable(),
    })
    .meta({ id: 'TrendPoint' }),
  symptoms: z.object({ id, description: text, severity, timestamp: instant }).meta({ id: 'Symptom' }),
  medications: z
    .object({
      id,
      name: text,
      dosage: textOrNull,
      frequency: textOrNull,
      condition: textOrNull,
      pattern: z.enum(MEDICATION_PATTERNS).nullable(),
    })
    .meta({ id: 'Medication' }),
  adherence: z
    .object({
      id,
      scheduledAt: instantOrNull,
      status: z.enum(ADHERENCE_STATUSES),
      takenAt: instantOrNull,
      dose: textOrNull,
      reason: textOrNull,
    })
    .meta({ id: 'Dose' }),
  conditions: z.object({ id, name: text, severity, sinceDate }).meta({ id: 'Condition' }),
  allergies: z.object({ id, name: text, severity, sinceDate }).meta({ id: 'Allergy' }),
  appointments: z
    .object({ id, title: text, dateTime: zonedInstant, specialty: textOrNull, location: textOrNull })
    .meta({ id: 'Appointment' }),
  weight: z.object({ id, weightKg: number, date }).meta({ id: 'WeightEntry' }),
  mood: z.object({ id, mood: z.enum(MOODS), note: textOrNull, timestamp: instant }).meta({ id: 'MoodEntry' }),
  reports: z
    .object({ id, generatedAt: instant, dateRange: z.object({ from: date, to: date }), summary: text })
    .meta({ id: 'Report' }),
  profile: z
    .object({
      name: textOrNull,
      gender: z.enum(GENDERS).nullable(),
      dateOfBirth: date.nullable(),
      bloodType: z.enum(BLOOD_TYPES).nullable(),
    })
    .meta({ id: 'Profile' }),
  ehr: z
    .object({ id, resourceType: text, summary: text.max(500), timestamp: instant })
    .meta({ id: 'EhrRecord' }),
};
