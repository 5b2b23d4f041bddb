import type { MessageInitShape } from '@bufbuild/protobuf';
import type { RecordSchema } from '@phds/contracts/phds/healthdata/v1/ingestion_pb';
import type { ImportedReading, ImportedRecord } from '../ingest/imported-item.ts';
import type { JsonObject } from './json-values.ts';
import { idOf, type References } from './references.ts';

/** What is known of the patient and goes into the profile; absent is unknown. */
export interface ProfileFacts {
  readonly name?: string;
  readonly gender?: string;
  readonly dateOfBirth?: string;
}

/** Part of a blood type that one observation states. */
export interface BloodFacts {
  readonly group?: string;
  readonly rhesus?: '+' | '-';
}

/** What becomes of one resource. */
export type Outcome =
  | { readonly kind: 'reading'; readonly reading: ImportedReading }
  | { readonly kind: 'record'; readonly record: ImportedRecord }
  | { readonly kind: 'profile'; readonly facts: ProfileFacts }
  | { readonly kind: 'blood'; readonly facts: BloodFacts }
  | { readonly kind: 'left-out'; readonly reason: string }
  | { readonly kind: 'refused'; readonly reason: string };

/** A resource with what surrounds it in the bundle. */
export interface MappingContext {
  readonly resource: JsonObject;
  readonly resourceType: string;
  readonly fullUrl: string;
  readonly references: References;
}

/** Turns a resource into what is stored of it. Throws Refused with the reason when that is nothing. */
export type Mapper = (context: MappingContext) => readonly Outcome[];

/** All data of a bundle comes from this source (contract section 6). */
export const EHR_SOURCE = 'ehr';

type RecordContent = NonNullable<MessageInitShape<typeof RecordSchema>['record']>;

/** A record whose natural key is the resource's own id, so that a second import meets the first. */
export function toRecord(context: MappingContext, label: string, content: RecordContent): Outcome {
  const { fullUrl, resource } = context;
  const key = idOf(fullUrl, resource);
  return { kind: 'record', record: { label, key, source: EHR_SOURCE, record: content } };
}
