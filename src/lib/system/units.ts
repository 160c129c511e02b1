/** In ms: `5 * minutes`. */
export const seconds = 1000
export const minutes = 60 * seconds
export const hours = 60 * minutes
