/** A slug made from a name: lowercase ASCII letters and digits, words joined with dashes. Empty if the name has neither. */
export const slugOf = (name: string, maxLength: number): string =>
  name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .replace(/^-/, '')
    .slice(0, maxLength)
    .replace(/-$/, '');
