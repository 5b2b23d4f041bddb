import type { MessageInitShape } from '@bufbuild/protobuf';
import { EHR_SOURCE } from '@phds/catalog/fhir/observation-kinds';
import type { HealthRecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { Outcome as ItemOutcome } from '../ingest/importer.ts';
import type { JsonObject } from './json-values.ts';
import { idOf, type References } from './references.ts';

/** The part of a blood type that one observation states. */
export interface BloodFacts {
  readonly group?: string;
  readonly rhesus?: '+' | '-';
}

/** What becomes of a resource. */
export type Outcome = ItemOutcome | { readonly kind: 'blood'; readonly facts: BloodFacts };

/** A resource with its context in the bundle. */
export interface MappingContext {
  readonly resource: JsonObject;
  readonly resourceType: string;
  readonly fullUrl: string;
  readonly references: References;
  /** IANA zone of dates without a time. */
  readonly timeZone: string;
}

/** Maps a resource. Throws Refused with the reason if nothing can be stored. */
export type Mapper = (context: MappingContext) => readonly Outcome[];

type HealthRecordContent = NonNullable<MessageInitShape<typeof HealthRecordSchema>['record']>;

/** A record with the resource's id as natural key, so that a second import finds the first one's records. */
export function toHealthRecord(
  context: MappingContext,
  label: string,
  content: HealthRecordContent,
): Outcome {
  const { fullUrl, resource } = context;
  const key = idOf(fullUrl, resource);
  return { kind: 'record', record: { label, key, source: EHR_SOURCE, record: content } };
}
