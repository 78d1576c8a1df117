const ZIP_CODE = /^[0-9]{5}(-[0-9]{4})?$/;
const MAX_LENGTH = 10;

/** Whether a text is a ZIP code of the United States: five digits, perhaps a hyphen and four more. */
export const isZipCode = (text: string): boolean => text.length <= MAX_LENGTH && ZIP_CODE.test(text);
