import { invalidRequest } from '@phds/service-kit/errors';
import type { Notice } from '../domain/notice.ts';
import type { NoticeFeedStore } from './notice-ports.ts';

/** The feed of notices for the host application. */
export interface Notices {
  /** Throws `invalid_request` when `after` is more than ten minutes ahead of the feed. */
  list(after: number, limit: number): Promise<Notice[]>;
}

export function createNotices(dependencies: { readonly feed: NoticeFeedStore }): Notices {
  const { feed } = dependencies;
  return {
    async list(after, limit) {
      const notices = await feed.list(after, limit);
      // Answering with nothing would hide for ever that this reader misses every notice.
      if (notices === null) throw invalidRequest('after', 'is beyond the end of the feed');
      return notices;
    },
  };
}
