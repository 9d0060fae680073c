/** The seam under every port: the serial library's own interface. (Its types resolve under ESM only in this form.) */
export type BindingInterface = import('@serialport/bindings-interface', { with: {
  'resolution-mode': 'require',
}}).BindingInterface
export type BindingPortInterface = import('@serialport/bindings-interface', { with: {
  'resolution-mode': 'require',
}}).BindingPortInterface
export type OpenOptions = import('@serialport/bindings-interface', { with: {
  'resolution-mode': 'require',
}}).OpenOptions
