import { type AppError, invalidRequest, MAX_VIOLATIONS, type Violation } from '@phds/service-kit/errors';
import { findSuggestion } from '../domain/suggestion.ts';

/** Unknown names that a similar known name is looked for; the search costs more than the rest of an answer. */
const MAX_SUGGESTIONS = 5;

/** Collects what is wrong with the parameters of one request, so that all of it is told at once, up to `MAX_VIOLATIONS`. */
export class Violations {
  readonly #found: Violation[] = [];
  #unknown = 0;

  add(parameter: string, message: string): void {
    if (this.#found.length < MAX_VIOLATIONS) this.#found.push({ parameter, message });
  }

  /** Adds a name that is not among those known, with a suggestion for the first few. */
  addUnknown(name: string, known: readonly string[], kind: 'parameter' | 'field' = 'parameter'): void {
    if (this.#found.length >= MAX_VIOLATIONS) return;
    this.#unknown += 1;
    const suggestion = this.#unknown > MAX_SUGGESTIONS ? null : findSuggestion(name, known);
    this.add(name, `unknown ${kind}${toHint(suggestion, known, kind)}`);
  }

  /** Throws `invalid_request` if anything was added. */
  throwIfAny(): void {
    if (this.#found.length > 0) throw this.toError();
  }

  /** `invalid_request` with what was added. */
  toError(): AppError {
    return invalidRequest(this.#found);
  }
}

function toHint(suggestion: string | null, known: readonly string[], kind: 'parameter' | 'field'): string {
  if (suggestion !== null) return `; did you mean "${suggestion}"?`;
  if (kind === 'field') return '';
  return `; this endpoint ${known.length === 0 ? 'takes none' : `takes ${known.join(', ')}`}`;
}
