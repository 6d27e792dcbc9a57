/* The PCI identity of the emulated boards, the same in both libraries. */
#ifndef NVSHARE_EMULATOR_PCI_IDENTITY_H
#define NVSHARE_EMULATOR_PCI_IDENTITY_H

/* The vendor is NVIDIA. No product has this device number: an emulated board must not be taken for
 * a product whose measured constants it does not have. */
#define EMULATED_PCI_DEVICE_ID    0xEEEE10DEu
#define EMULATED_PCI_SUBSYSTEM_ID 0x000110DEu

#define EMULATED_PCI_DOMAIN 0u
#define EMULATED_PCI_DEVICE 0u

/* A 3D controller without a display. */
#define EMULATED_PCI_BASE_CLASS 0x03u
#define EMULATED_PCI_SUB_CLASS  0x02u

#endif
