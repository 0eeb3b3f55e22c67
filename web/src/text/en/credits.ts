export const credits = {};
