import { type AppError, invalidRequest, MAX_VIOLATIONS, type Violation } from '@phds/service-kit/errors';
import { findSuggestion } from '../domain/suggestion.ts';

/** Suggestions are searched for this many unknown names only, because the search is expensive. */
const MAX_SUGGESTIONS = 5;

/** Collects the violations of one request, up to `MAX_VIOLATIONS`, so that one response reports them all. */
export class Violations {
  readonly #found: Violation[] = [];
  #unknown = 0;

  add(parameter: string, message: string): void {
    if (this.#found.length < MAX_VIOLATIONS) this.#found.push({ parameter, message });
  }

  /** Adds an unknown name, with a suggestion for the first few. */
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

  /** The collected violations as an `invalid_request` error. */
  toError(): AppError {
    return invalidRequest(this.#found);
  }
}

function toHint(suggestion: string | null, known: readonly string[], kind: 'parameter' | 'field'): string {
  if (suggestion !== null) return `; did you mean "${suggestion}"?`;
  if (kind === 'field') return '';
  return `; this endpoint ${known.length === 0 ? 'takes none' : `takes ${known.join(', ')}`}`;
}
