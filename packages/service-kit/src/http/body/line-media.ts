import { LINES_MEDIA_TYPE } from '@decision/contracts';

export const LINES_TYPE = LINES_MEDIA_TYPE;

const LINES = /^application\/x-ndjson(?:\s*;\s*charset="?utf-?8"?)?$/i;

/** The forms in which many inputs and results travel: JSON, or one JSON value a line. */
export type BodyForm = 'list' | 'lines';

/** Whether a content type means one JSON value a line. */
export const isLinesType = (contentType: string | undefined): boolean =>
  contentType !== undefined && LINES.test(contentType.trim());

/** The form of an answer: that which the client accepts, else the usual one. */
export const formOfAnswer = (accept: string | undefined, usual: BodyForm): BodyForm => {
  const accepted = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => (range.split(';')[0] ?? '').trim());
  const lines = accepted.includes(LINES_TYPE);
  const list = accepted.includes('application/json');
  return lines === list ? usual : lines ? 'lines' : 'list';
};
