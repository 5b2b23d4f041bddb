import { type QueryKey, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef } from 'react';
import { isRefusal, Problem } from './problem.ts';

/**
 * What became of a change that failed. `undone`: the service refused it, or its state shows that it was not made. `made`: only the
 * answer was lost. `unknown`: no answer came, and the state could not be read afterwards.
 */
export type Standing = 'undone' | 'made' | 'unknown';

export interface Failure {
  readonly standing: Standing;
  /** Why it failed. */
  readonly error: unknown;
}

/**
 * How long after a lost answer the service may still make the change. The gateway gives up after 2 s (`AUTHORIZATION_DEADLINE_MS`,
 * `CONSENT_DEADLINE_MS`); the rest is a margin for transport and commit.
 */
const PROCESSING_MS = 4_000;
const LOOK_EVERY_MS = 1_000;

/** A change of something whose state the service can be asked for. */
interface ChangeOf<Change, Answer, State> {
  /** Of the state. */
  readonly queryKey: QueryKey;
  readonly read: () => Promise<State>;
  readonly send: (change: Change) => Promise<Answer>;
  /** Whether the state shows the change as made; null when it cannot tell. `before` is the last state known before the change. */
  readonly isMade: (state: State, change: Change, before: State | undefined) => boolean | null;
  /** What else has to be read again afterwards. */
  readonly affected: readonly QueryKey[];
  /** Whether a success leads away from the page, which then stays as it is until the browser has gone. */
  readonly leadsAway?: boolean;
}

/** A change that failed, and what is needed to judge it by a later state. */
class FailedChange<Change, State> extends Error {
  readonly change: Change;
  readonly before: State | undefined;
  readonly at = Date.now();

  constructor(change: Change, before: State | undefined, cause: unknown) {
    super('The change failed.', { cause });
    this.change = change;
    this.before = before;
  }
}

/**
 * Whether a change was made whose answer was lost; null when that cannot be told. That it was not made is only certain by a look
 * after the service has finished.
 */
async function findOutcome(look: () => Promise<boolean | null>): Promise<boolean | null> {
  const finishedAt = performance.now() + PROCESSING_MS;
  for (;;) {
    const isFinished = performance.now() >= finishedAt;
    const made = await look().catch(() => null);
    if (made === true || isFinished) return made;
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}

/**
 * Sends a change. When no usable answer comes, the state is read before anything is said: a change that was made counts as a
 * success, with `null` in place of the lost answer. While a change is under way, a second one is not sent and `reset` does nothing.
 */
export function useChange<Change, Answer, State>(options: ChangeOf<Change, Answer, State>) {
  const { queryKey, read, send, isMade, affected, leadsAway = false } = options;
  const client = useQueryClient();
  const isUnderWay = useRef(false);
  // Follows the state that the page shows, and never asks for it by itself.
  const state = useQuery({ queryKey, queryFn: read, enabled: false });
  const lookAgain = () => Promise.all(affected.map((key) => client.invalidateQueries({ queryKey: key })));

  const sendAndLook = async (change: Change): Promise<Answer | null> => {
    const before = client.getQueryData<State>(queryKey);
    try {
      return await send(change);
    } catch (error) {
      if (isRefusal(error)) throw new FailedChange(change, before, error);
      const made = await findOutcome(async () => isMade(await look(), change, before));
      if (made === true) return null;
      const cause = made === null ? error : new Problem('NOT_MADE', 0, 'No answer came. Please try again.');
      throw new FailedChange(change, before, cause);
    }
  };
  /** The state as it is now: an answer to a question from before the change would not do. */
  const look = async () => {
    await client.cancelQueries({ queryKey, exact: true });
    return client.fetchQuery({ queryKey, queryFn: read, staleTime: 0, retry: false });
  };

  const mutation = useMutation<Answer | null, FailedChange<Change, State>, Change>({
    mutationFn: (change) =>
      sendAndLook(change).finally(() => {
        isUnderWay.current = false;
      }),
    onSuccess: () => (leadsAway ? undefined : lookAgain()),
    // Not awaited: what is known is said at once.
    onError: () => void lookAgain(),
  });

  /** A state that was read later than the failure counts for more than the failure. */
  const judge = (failed: FailedChange<Change, State>): Failure => {
    const error = failed.cause;
    const made = state.data === undefined ? null : isMade(state.data, failed.change, failed.before);
    if (made === true) return { standing: 'made', error };
    const wasRead = made === false && state.dataUpdatedAt > failed.at;
    const isKnown = wasRead || isRefusal(error) || (error instanceof Problem && error.code === 'NOT_MADE');
    return { standing: isKnown ? 'undone' : 'unknown', error };
  };

  return {
    ...mutation,
    mutate: (change: Change, then?: { onSuccess: (answer: Answer | null) => void }) => {
      if (isUnderWay.current) return;
      isUnderWay.current = true;
      mutation.mutate(change, then ?? {});
    },
    // To reset a change under way would lose its outcome.
    reset: () => {
      if (!isUnderWay.current && !mutation.isPending) mutation.reset();
    },
    failure: mutation.error === null ? null : judge(mutation.error),
  };
}
