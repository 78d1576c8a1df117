const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Whether text is a UUID. Other text cannot be the id of anything, and the database refuses to compare it with one. */
export const isUuid = (text: string): boolean => UUID.test(text);
