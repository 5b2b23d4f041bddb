import { SEVERITIES, type Severity } from '@phds/catalog/wire-names';
import { codesOf, conceptText, SNOMED } from './concepts.ts';

const SNOMED_SEVERITIES: ReadonlyMap<string, Severity> = new Map([
  ['255604002', 'mild'],
  ['6736007', 'moderate'],
  ['24484000', 'severe'],
]);

/** The severity stated by a CodeableConcept, by SNOMED code or else by word; empty if unknown. */
export function severityOfConcept(concept: unknown): Severity | '' {
  for (const code of codesOf(concept, SNOMED)) {
    const severity = SNOMED_SEVERITIES.get(code);
    if (severity !== undefined) return severity;
  }
  return severityOfWord(conceptText(concept));
}

/** The severity named by a word; empty for other words. */
export function severityOfWord(word: string): Severity | '' {
  return SEVERITIES.find((severity) => severity === word.trim().toLowerCase()) ?? '';
}

/** The worst of several severities; empty if none is known. */
export function worstSeverity(severities: readonly (Severity | '')[]): Severity | '' {
  return SEVERITIES.findLast((severity) => severities.includes(severity)) ?? '';
}
