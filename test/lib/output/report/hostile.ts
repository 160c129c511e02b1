import texts from './hostile.json' with { type: 'json' }

/** Texts that somebody could give to a VM, a label or a message so that a page, a terminal or a ticket does something; the last is a long one. */
export const hostile: readonly string[] = texts.map((text) => (text === 'x{5000}' ? 'x'.repeat(5000) : text))
