import {
  type QueryKey,
  type UseMutationOptions,
  useMutation,
  useQuery,
  useQueryClient,
} from '@tanstack/react-query';
import { useRef } from 'react';
import { isRefusal, Problem } from './problem.ts';

/**
 * The state after a failed change. `undone`: the service refused it, or its state shows that it was not made. `made`: only the
 * response was lost. `unknown`: no response came, and the state could not be read afterwards.
 */
export type Outcome = 'undone' | 'made' | 'unknown';

export interface Failure {
  readonly outcome: Outcome;
  readonly error: unknown;
}

/** For transport and commit. */
const MARGIN_MS = 2_000;
/** For a page without the gateway's limit, such as that of a development server. */
const LONGEST_LIMIT_MS = 20_000;
const READ_EVERY_MS = 1_000;

/** A change of something whose state can be read from the service. */
interface ChangeOf<Change, Answer, State> {
  readonly queryKey: QueryKey;
  readonly read: () => Promise<State>;
  readonly send: (change: Change) => Promise<Answer>;
  /** Whether the state shows the change as made; null if it cannot tell. `before` is the last state known before the change. */
  readonly isMade: (state: State, change: Change, before: State | undefined) => boolean | null;
  /** Other queries to refetch afterwards. */
  readonly affected: readonly QueryKey[];
  /** Whether a success navigates away, so that the page stays unchanged until then. */
  readonly leadsAway?: boolean;
}

/** A failed change with the data needed to judge it by a later state. */
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

/** How long after a lost response the service may still make the change: until the gateway gives up, which it says in the page. */
function processingMs(): number {
  const limit = document.querySelector<HTMLMetaElement>('meta[name="change-limit-ms"]')?.content;
  return (Number(limit) || LONGEST_LIMIT_MS) + MARGIN_MS;
}

/**
 * Whether a change with a lost response was made; null if that cannot be determined. It is certain that it was not made only once
 * the service has finished.
 */
async function findOutcome(readState: () => Promise<boolean | null>): Promise<boolean | null> {
  const finishedAt = performance.now() + processingMs();
  for (;;) {
    const isFinished = performance.now() >= finishedAt;
    const made = await readState().catch(() => null);
    if (made === true || isFinished) return made;
    await new Promise((resolve) => setTimeout(resolve, READ_EVERY_MS));
  }
}

/** A mutation of which, while it is under way, a second one is not sent, and `reset` does nothing: either would lose its outcome. */
export function useSingleMutation<Answer, Fault, Change>(
  options: Omit<UseMutationOptions<Answer, Fault, Change>, 'onSettled'>,
) {
  const isUnderWay = useRef(false);
  const onSettled = () => {
    isUnderWay.current = false;
  };
  const mutation = useMutation({ ...options, onSettled });
  const mutate: typeof mutation.mutate = (...change) => {
    if (isUnderWay.current) return;
    isUnderWay.current = true;
    mutation.mutate(...change);
  };
  const reset = () => {
    if (!isUnderWay.current) mutation.reset();
  };
  return { ...mutation, mutate, reset };
}

/**
 * Sends a change. If no usable response arrives, the state is read before anything is reported: a change that was made counts as a
 * success, with `null` instead of the lost response.
 */
export function useChange<Change, Answer, State>(options: ChangeOf<Change, Answer, State>) {
  const { queryKey, read, send, isMade, affected, leadsAway = false } = options;
  const client = useQueryClient();
  // Observes the state shown by the page without fetching it.
  const state = useQuery({ queryKey, queryFn: read, enabled: false });
  const refetchAffected = () =>
    Promise.all(affected.map((key) => client.invalidateQueries({ queryKey: key })));

  const sendAndVerify = async (change: Change): Promise<Answer | null> => {
    const before = client.getQueryData<State>(queryKey);
    try {
      return await send(change);
    } catch (error) {
      if (isRefusal(error)) throw new FailedChange(change, before, error);
      const made = await findOutcome(async () => isMade(await readState(), change, before));
      if (made === true) return null;
      const cause = made === null ? error : new Problem('NOT_MADE', 0, 'No answer came.');
      throw new FailedChange(change, before, cause);
    }
  };
  /** Reads the current state; the result of an earlier request would not do. */
  const readState = async () => {
    await client.cancelQueries({ queryKey, exact: true });
    return client.fetchQuery({ queryKey, queryFn: read, staleTime: 0, retry: false });
  };

  const mutation = useSingleMutation<Answer | null, FailedChange<Change, State>, Change>({
    mutationFn: sendAndVerify,
    onSuccess: () => (leadsAway ? undefined : refetchAffected()),
    // Not awaited, so that the known result is shown immediately.
    onError: () => void refetchAffected(),
  });

  /** A state read after the failure takes precedence over the failure. */
  const judge = (failed: FailedChange<Change, State>): Failure => {
    const error = failed.cause;
    const made = state.data === undefined ? null : isMade(state.data, failed.change, failed.before);
    if (made === true) return { outcome: 'made', error };
    const wasRead = made === false && state.dataUpdatedAt > failed.at;
    const isKnown = wasRead || isRefusal(error) || (error instanceof Problem && error.code === 'NOT_MADE');
    return { outcome: isKnown ? 'undone' : 'unknown', error };
  };

  return { ...mutation, failure: mutation.error === null ? null : judge(mutation.error) };
}
