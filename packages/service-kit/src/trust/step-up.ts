import { type Clock, systemClock } from '../clock.ts';
import { AppError } from '../errors.ts';
import { MAX_CLOCK_DIFFERENCE_SECONDS, type Session } from './session.ts';

/**
 * What can need a recent or strong sign-in: approving a scope that is marked as sensitive, seeing one's own data on the preview page,
 * and replacing the secret of an app.
 */
export const STEP_UP_ACTIONS = ['sensitive-approval', 'preview', 'secret-rotation'] as const;

export type StepUpAction = (typeof STEP_UP_ACTIONS)[number];

export interface StepUpOptions {
  /** The actions that need it; empty: none. */
  readonly actions: readonly StepUpAction[];
  /** Longest time since the sign-in; null: any. */
  readonly maxAgeSeconds: number | null;
  /** The accepted values of `acr`; empty: any. */
  readonly acr: readonly string[];
  readonly clock?: Clock;
}

/** Decides whether a person signed in recently and strongly enough for an action. */
export interface StepUp {
  /** The error `step_up_required`; null if the session may do it. */
  findRefusal(action: StepUpAction, session: SignIn): AppError | null;
  /** Throws that error. */
  check(action: StepUpAction, session: SignIn): void;
}

type SignIn = Pick<Session, 'authTime' | 'acr'>;

export function createStepUp(options: StepUpOptions): StepUp {
  const { actions, maxAgeSeconds, acr, clock = systemClock } = options;
  const message = describe(options);

  function isEnough(session: SignIn): boolean {
    if (maxAgeSeconds !== null && !isRecent(session.authTime, maxAgeSeconds)) return false;
    return acr.length === 0 || (session.acr !== null && acr.includes(session.acr));
  }

  /** The provider, and the services that ask, may have clocks that differ. */
  function isRecent(authTime: Date | null, seconds: number): boolean {
    if (authTime === null) return false;
    const age = (clock.now().getTime() - authTime.getTime()) / 1000;
    return age >= -MAX_CLOCK_DIFFERENCE_SECONDS && age <= seconds + MAX_CLOCK_DIFFERENCE_SECONDS;
  }

  function findRefusal(action: StepUpAction, session: SignIn): AppError | null {
    if (!actions.includes(action) || isEnough(session)) return null;
    return new AppError('step_up_required', message);
  }

  return {
    findRefusal,
    check(action, session) {
      const refusal = findRefusal(action, session);
      if (refusal !== null) throw refusal;
    },
  };
}

function describe({ maxAgeSeconds, acr }: StepUpOptions): string {
  const age = maxAgeSeconds === null ? '' : ` at most ${maxAgeSeconds} seconds old`;
  const strength = acr.length === 0 ? '' : ` with acr ${acr.join(' or ')}`;
  return `This needs a sign-in${age}${strength}. Sign in again.`;
}
