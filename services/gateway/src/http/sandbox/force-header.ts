import { type Fields, text } from '../openapi/fields.ts';
import { FORCE_HEADER } from './forced-errors.ts';

/** The request header `Sandbox-Force`, for the document. */
export const FORCE_HEADERS: Fields = {
  [FORCE_HEADER]: text.meta({
    description:
      'Sandbox apps only: the code of an error of this operation, which is then answered as if it had happened. Ignored for live apps.',
    examples: ['RATE_LIMITED'],
  }),
};
