import type { DataRequest } from './data-request.ts';
import { getTimeZone } from './data-window.ts';
import { type Answer, toObjectAnswer } from './document.ts';
import type { ProfileStore } from './ports.ts';

/** The zone in which the person's days begin. */
export async function readTimeZone(
  ports: { readonly profiles: ProfileStore },
  { userId }: DataRequest,
): Promise<Answer> {
  return toObjectAnswer({ timeZone: await getTimeZone(ports.profiles, userId) }, 1);
}
