export { parseTemplate } from './template.ts'
export { printTemplate } from './print.ts'
