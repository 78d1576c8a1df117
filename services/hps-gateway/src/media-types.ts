import { ServiceError } from '@decision/contracts';
import { type BodyForm, checkJsonContentType, isLinesType, LINES_TYPE } from '@decision/service-kit';

/** The form of a body by its content type; `list` stands for JSON of any kind. Throws `unsupported_media_type`. */
export const formOfBody = (contentType: string | undefined, takesLines: boolean): BodyForm => {
  if (isLinesType(contentType)) {
    if (takesLines) return 'lines';
    throw new ServiceError(
      'unsupported_media_type',
      `The content type ${LINES_TYPE} is not accepted at this path; send it to /api/v1/bulk-solve.`,
    );
  }
  checkJsonContentType(contentType);
  return 'list';
};
