import { AnswerContract, type ReceivedAnswer } from './answer-contract.ts';

let opened: Promise<AnswerContract> | null = null;

/** Throws if an answer is not as the OpenAPI document says. */
export async function checkAnswer(answer: ReceivedAnswer): Promise<void> {
  opened ??= AnswerContract.open();
  const faults = (await opened).findFaults(answer);
  if (faults.length === 0) return;
  const { method, url, status, text } = answer;
  throw new Error(
    `${method} ${url.pathname} answered ${status}, which services/gateway/openapi.json does not describe:\n` +
      `${faults.map((fault) => `  ${fault}`).join('\n')}\n${text ?? ''}`,
  );
}

/** `fetch` that also checks the answer. Bodies that are not JSON are left unread. */
export const checkedFetch: typeof fetch = (input, init) => fetchAndCheck(input, init, true);

/**
 * `fetch` that checks answers of a gateway in front of fake services: everything but the bodies of successes, which are as real as the
 * test makes them.
 */
export const checkedFetchOfFakes: typeof fetch = (input, init) => fetchAndCheck(input, init, false);

async function fetchAndCheck(
  input: Parameters<typeof fetch>[0],
  init: RequestInit | undefined,
  isReal: boolean,
): Promise<Response> {
  const response = await fetch(input, init);
  const { status, headers } = response;
  const url = new URL(input instanceof Request ? input.url : input);
  const method = (init?.method ?? (input instanceof Request ? input.method : 'GET')).toUpperCase();
  const isJson = (isReal || status >= 400) && /json/.test(headers.get('content-type') ?? '');
  const text = isJson ? await response.clone().text() : null;
  await checkAnswer({ method, url, status, headers, text });
  return response;
}
