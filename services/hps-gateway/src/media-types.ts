import { ServiceError } from '@decision/contracts';
import { checkJsonContentType } from '@decision/service-kit';

/** The forms in which many inputs and results travel. */
export type BulkForm = 'list' | 'lines';

const LINES_TYPE = 'application/x-ndjson';
const LINES = /^application\/x-ndjson(?:\s*;\s*charset="?utf-?8"?)?$/i;

/** The form of a body by its content type; `list` stands for JSON of any kind. Throws `unsupported_media_type`. */
export const formOfBody = (contentType: string | undefined, takesLines: boolean): BulkForm => {
  if (contentType !== undefined && LINES.test(contentType.trim())) {
    if (takesLines) return 'lines';
    throw new ServiceError(
      'unsupported_media_type',
      `The content type ${LINES_TYPE} is not accepted at this path; send it to /api/v1/bulk-solve.`,
    );
  }
  checkJsonContentType(contentType);
  return 'list';
};

/** The form of the answer: that which the client accepts, else that of its body. */
export const formOfAnswer = (accept: string | undefined, body: BulkForm): BulkForm => {
  const accepted = (accept ?? '')
    .toLowerCase()
    .split(',')
    .map((range) => (range.split(';')[0] ?? '').trim());
  const lines = accepted.includes(LINES_TYPE);
  const list = accepted.includes('application/json');
  return lines === list ? body : lines ? 'lines' : 'list';
};
