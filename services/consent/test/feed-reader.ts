import type { Notice } from '@phds/contracts/phds/events/v1/notice_pb';
import type { RunningService } from './running-service.ts';

/** A reader of the feed that goes on from its last cursor. */
export class FeedReader {
  after = '';
  readonly seen: Notice[] = [];
  readonly #consent: RunningService;

  constructor(consent: RunningService) {
    this.#consent = consent;
  }

  async read(limit = 0): Promise<Notice[]> {
    const { notices, next } = await this.#consent.notices.listNotices({ after: this.after, limit });
    this.after = next;
    this.seen.push(...notices);
    return notices;
  }

  /** Reads to the end and returns the notices about that person. */
  async readOf(userId: string): Promise<Notice[]> {
    while ((await this.read()).length > 0);
    return this.seen.filter((notice) => notice.userId === userId);
  }
}
