import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Refused } from '../ingest/refused.ts';
import { parseFhirTime } from './dates.ts';
import { SUMMARIES, type SummaryRule } from './ehr-summary-rules.ts';
import { type JsonObject, shorten, textAt } from './json-values.ts';
import { type MappingContext, type Outcome, toHealthRecord } from './outcome.ts';

/** Contract section 6: text of at most 500 characters, no raw FHIR. */
const SUMMARY_LENGTH = 500;

/** Whether resources of a type become EHR records, i.e. have clinical content and no resource type of their own in our API. */
export function hasEhrSummary(resourceType: string): boolean {
  return Object.hasOwn(SUMMARIES, resourceType);
}

/** Converts a resource to an EHR record: a summary and a time. Throws Refused if either is missing. */
export function mapEhrRecord(context: MappingContext): readonly Outcome[] {
  const { resource, resourceType } = context;
  const rule = SUMMARIES[resourceType];
  if (rule === undefined) throw new Refused('resource type is unknown');
  const summary = shorten(rule.describe(resource, context.references), SUMMARY_LENGTH);
  if (summary === '') throw new Refused('contains nothing to summarise');
  const value = { resourceType, summary, timestamp: timestampFromDate(momentOf(resource, rule)) };
  return [toHealthRecord(context, `ehr-record ${resourceType}`, { case: 'ehrRecord', value })];
}

/** The first available date according to the rule; a year alone means its first day. */
function momentOf(resource: JsonObject, { dates }: SummaryRule): Date {
  const found = dates.map((path) => textAt(resource, ...path.split('.'))).find((text) => text !== '');
  if (found === undefined) throw new Refused('date is missing');
  return parseFhirTime(found).at;
}
