/** For one line: the first twenty, and how many more. */
export const upToTwenty = (names: readonly string[]): string =>
  names.length > 20 ? `${names.slice(0, 20).join(', ')} and ${names.length - 20} more` : names.join(', ')
