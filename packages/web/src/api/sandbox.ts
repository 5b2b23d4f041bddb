import { useMutation } from '@tanstack/react-query';
import { type Data, send } from './client.ts';

/** What can happen to a connection of a sandbox app. */
export const TRIGGERS = [
  'data.arrive',
  'data.correct',
  'data.delete',
  'grant.narrow',
  'grant.revoke',
  'grant.expire',
] as const;

export type SandboxTrigger = (typeof TRIGGERS)[number];

interface Triggered {
  readonly trigger: SandboxTrigger;
  readonly grantId: string;
  /** False when nothing is different, such as after a second revocation. */
  readonly changed: boolean;
}

/** Lets something happen to a connection, as its person or time would. */
export function useTrigger(clientId: string) {
  return useMutation({
    mutationFn: async (change: { readonly trigger: SandboxTrigger; readonly grantId: string }) => {
      const path = `/developer/apps/${encodeURIComponent(clientId)}/sandbox/triggers`;
      return (await send<Data<Triggered>>('POST', path, change)).data;
    },
  });
}
