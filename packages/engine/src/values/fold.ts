/**
 * Text without its case, for comparison: the upper case of the lower case by Unicode, the same for every language. So `ß` equals
 * `SS`, and the three forms of sigma are one. Characters are not normalised otherwise: `é` and `e` with an accent stay different.
 */
export const fold = (text: string): string => text.toLowerCase().toUpperCase();
