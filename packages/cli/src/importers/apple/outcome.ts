import type { ImportedHealthRecord, ImportedProfile, ImportedReading } from '../ingest/imported-item.ts';

/** The result of mapping one element of the export. */
export type Outcome =
  | { readonly kind: 'reading'; readonly reading: ImportedReading }
  | { readonly kind: 'record'; readonly record: ImportedHealthRecord }
  | { readonly kind: 'profile'; readonly facts: ImportedProfile }
  | { readonly kind: 'left-out'; readonly type: string; readonly reason: string }
  | { readonly kind: 'refused'; readonly type: string; readonly reason: string };

export function leftOut(type: string, reason: string): Outcome {
  return { kind: 'left-out', type, reason };
}

export function refused(type: string, reason: string): Outcome {
  return { kind: 'refused', type, reason };
}
